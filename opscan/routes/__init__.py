"""What one operator meets in each migration route, without a model: eager, graph, offline."""
