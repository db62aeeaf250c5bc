"""Logs and profiles of real runs as observations: what fell back, what was refused, what ran on the AI CPU."""
