"""Queue depth events of shared and nonshared queues: the attributes that switch, and the messages."""
