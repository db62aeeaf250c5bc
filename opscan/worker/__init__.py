"""The process that holds torch and the user's model: ``host`` starts it and speaks to it, ``child`` is its program."""
