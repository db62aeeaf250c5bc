"""One file a rule. ``registry`` lists them; ``interface`` says what a rule is."""
