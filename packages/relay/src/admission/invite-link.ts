// The link of an invite. Its code is in the part after `#`, which browsers send to no server.

/** @param publicUrl the relay's address for clients, where it serves the app */
export function inviteLink(code: string, publicUrl: URL): string {
  return new URL(`#/invite/${code}`, publicUrl).href
}
