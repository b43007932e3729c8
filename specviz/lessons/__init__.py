"""The lessons: texts and records in `assets/lessons`, every number in them computed from a recorded run."""
