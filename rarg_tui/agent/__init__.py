"""Who looks: models, tools, strategies and the step machine."""
