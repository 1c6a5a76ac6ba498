"""What one optimizer step costs in time: counted work over the rates of its hardware.

`step_time` puts the terms together; `flops`, `passes`, `traffic` and `host` count, `links` says
which wire a group of ranks uses, and `assumptions` has every number that was not counted.
"""
