"""Queue depth events of shared and nonshared queues: what switches, who writes which message."""
