// Original file: none, these are types of protobuf itself

export interface Empty {
}

export interface Empty__Output {
}
