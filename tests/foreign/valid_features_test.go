package foreign_test

var features = []valid{}
