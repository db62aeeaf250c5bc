"""Many models in one go: found or listed, scanned side by side in processes of their own, summed up."""
