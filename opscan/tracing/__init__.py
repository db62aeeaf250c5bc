"""Models to inventories. One file per tracer; ``interface.py`` says what a tracer is given and returns."""
