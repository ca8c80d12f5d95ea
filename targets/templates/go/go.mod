module shim

go 1.21
