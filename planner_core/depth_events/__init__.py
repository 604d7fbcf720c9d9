"""Queue depth events of shared and nonshared queues: the attributes that they switch, and their messages."""
