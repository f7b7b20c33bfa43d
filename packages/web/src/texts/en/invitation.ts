// An invitation link: who is added is asked first.
import { plural } from '../plural.ts'

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
  invited: (alias: string) =>
    `You have an invitation by ${alias}. You are asked about it once you have an account.`,
  inviteGiven: 'You have an invite to this relay. Create an account to use it.',
  inviteBroken: 'This link is no whole invite. Ask for it again.',
  inviteTitle: 'Who invited you?',
  inviteText: 'This relay takes new accounts only with an invite. Ask somebody who uses it, or who runs it.',
  inviteLabel: 'Link or code of the invite',
  inviteWrong: 'This is no invite. Enter the whole link, or the code in it.',
  inviteRefused: 'This invite is used up, has ended, or is not of this relay. Ask for a new one.',
  closedTitle: 'No new accounts here',
  closedText:
    'This relay takes no new accounts at the moment. If you have one, recover it with its 12 words.',
  makeTitle: 'Invite people to this relay',
  makeText: (left: number) =>
    plural('en', left, {
      one: 'You can invite # more person. An invite is for one person and 14 days.',
      other: 'You can invite # more people. An invite is for one person and 14 days.',
    }),
  make: 'Make an invite',
  madeHint: 'Pass it on now: it is not shown again.',
  copyInvite: 'Copy the link',
  openUntil: (date: string) => `Open until ${date}`,
  revoke: 'Revoke',
  joined: 'You have an account here',
  joinedHint: 'This invite is for somebody who has none yet. You can pass the link on.',
}
