"""The agent's tools, one file each; :mod:`rarg_tui.agent.toolbox` holds those of a run together."""
