"""Where it is looked for: the command grammar and its guard, ordered ripgrep, observations."""
