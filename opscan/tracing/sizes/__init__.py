"""Models at several sizes of their inputs."""
