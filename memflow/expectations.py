class Expectation: pass
EXPECTATIONS=[]
