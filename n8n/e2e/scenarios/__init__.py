"""What is done to n8n, with and without the gate. Each function is one sentence; it gets the ground and the table of counts."""
