"""Code to write instead of what the target refuses, each family with its own check against the original.

``registry`` finds the families for a call and knows no torch. ``checking`` runs original and replacement, and imports
it.
"""
