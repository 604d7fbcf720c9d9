"""The sizes of one structure: demand, the element model, offload, advice on depths, and where structures are placed."""
