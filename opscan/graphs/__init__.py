"""Programs that torch wrote down, run operator by operator from the lines and modules that they name."""
