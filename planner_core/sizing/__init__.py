"""The sizes of the structures of a plan: their results, how each is evaluated, and the plan as a whole."""
