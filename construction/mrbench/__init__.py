"""MRBench: captions and motions in, caption sets of three lengths and a training set out."""
