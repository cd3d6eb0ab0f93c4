"""What a run against a real n8n stands on: the programs it starts, the far side that counts, and how workflows are written.
Nothing here knows a scenario; those are in `scenarios/`."""
