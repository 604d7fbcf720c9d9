"""The running system: read a policy without loss, check it, merge a plan into it, and compare it with a plan."""
