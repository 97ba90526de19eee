"""The cache: a folder with what earlier runs found, so that nothing is analysed twice."""
