// The locked app.
export const lock = {
  title: 'Locked',
  text: 'Enter your passphrase to open your messages.',
  passphrase: 'Passphrase',
  unlock: 'Unlock',
  unlocking: 'Unlocking takes some seconds…',
  forgotten: 'Forgotten? Recover with the 12 words',
}
