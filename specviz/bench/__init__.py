"""The benchmark: our engine and others on the same prompts, in one run, taking turns. Reports, and says why."""
