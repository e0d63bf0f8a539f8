// Original file: proto/contextd/v1/host.proto


export interface LogResponse {
}

export interface LogResponse__Output {
}
