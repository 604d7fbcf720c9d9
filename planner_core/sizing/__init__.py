"""The sizing of structures: demand, the element model, offload, advice on queue depths, and placement."""
