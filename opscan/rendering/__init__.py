"""An assessment as a terminal summary, an HTML report or JSON: one file per format, all fed by :class:`Assessment`."""
