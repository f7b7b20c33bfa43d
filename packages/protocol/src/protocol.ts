// The entry of the package: everything the relay, the client and the documents share.

export * from './bodies/accounts.ts'
export * from './bodies/channels.ts'
export * from './bodies/friends.ts'
export * from './bodies/vanity.ts'
export * from './check.ts'
export * from './endpoints.ts'
export * from './errors.ts'
export * from './frames/client-frames.ts'
export * from './frames/codec.ts'
export * from './frames/relay-frames.ts'
export * from './ids.ts'
export * from './limits.ts'
