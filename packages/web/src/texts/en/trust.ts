// The security code of a contact, and changed keys.
export const trust = {
  title: 'Security code',
  verified: 'Verified',
  verifiedSince: (time: string) => `You compared it on ${time}.`,
  unverified: 'Not compared yet',
  changed: 'The keys have changed',
  how: (name: string) =>
    `${name} sees the same code if nobody sits between you. Compare it face to face, or by voice on a call that you trust.`,
  qr: 'The security code as a QR code',
  same: 'The codes are the same',
  different: 'If they differ, write nothing confidential: somebody may be reading along.',
  takeBack: 'Take it back',
  isVerified: (name: string) => `${name} is verified.`,
  isUnverified: (name: string) => `${name} is not verified any more.`,
  notTheSame: 'This is not the code any more. Compare again.',
  changedTitle: (name: string) => `The keys of ${name} have changed`,
  changedBar: (name: string, others: number) =>
    others === 0 ? `The keys of ${name} have changed` : `The keys of ${name} and ${others} more have changed`,
  changedShort: 'Nothing is sent or read until you decide.',
  changedWhy:
    'The relay says that this contact has other keys than those you know. Somebody may be pretending to be them, also the relay itself. There can be a harmless reason, but only the person can tell you.',
  changedWhat: 'What to do',
  changedSteps: [
    'Ask the person face to face or by phone, not by this app.',
    'Compare the new code below with the one that they see.',
    'Go on only if they know why, and the codes are the same.',
  ],
  look: 'What to do',
  newCode: 'The new code',
  oldCode: 'The code until now',
  renewSame: 'The new codes are the same',
  renewSameText: 'The new keys are used from now on, and the contact is verified.',
  renewBlind: 'Go on without comparing',
  renewBlindTitle: 'Trust keys that nobody has compared?',
  renewBlindText: 'Whoever has these keys reads what you write from now on. That may be somebody else.',
  renewed: 'The new keys are used from now on.',
  needsRelay: 'This needs a connection to the relay.',
}
