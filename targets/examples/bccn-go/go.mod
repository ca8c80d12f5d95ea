module bccn

go 1.26
