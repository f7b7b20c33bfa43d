// An invitation link: who is added is asked first.
export const invitation = {
  title: 'An invitation',
  text: 'This link was made for becoming contacts. The request is sent only if you say so.',
  notNow: 'Not now',
  broken: 'This link names nobody',
  brokenHint: 'Ask for a new link, or enter the alias yourself.',
  own: 'This is your own link',
  ownHint: 'Send it to somebody who shall become your contact.',
  elsewhere: 'This invitation is for another relay',
  elsewhereText:
    'People find each other within one relay only. The link is for the first, and you use the second.',
  openThere: 'Open it at its relay',
  failed: 'The invitation could not be looked up',
  welcome: (alias: string) =>
    `You have an invitation by ${alias}. You are asked about it once you have an account.`,
}
