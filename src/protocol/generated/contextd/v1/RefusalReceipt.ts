// Original file: proto/contextd/v1/tool.proto


export interface RefusalReceipt {
}

export interface RefusalReceipt__Output {
}
