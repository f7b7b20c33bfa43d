import { plural } from '../plural.ts'

// Reports to the operator of the relay.
export const report = {
  title: (name: string) => `Report ${name}`,
  text: 'Your report goes to the operator of the relay, with your alias. It replaces an earlier one about the same.',
  notTold: 'The one you report is not told.',
  reason: 'What is wrong?',
  left: (count: number) => plural('en', count, { one: '# character left', other: '# characters left' }),
  isPublic: 'The operator can read the channel and its posts.',
  attachMessage: 'Attach the message',
  attachRequest: 'Attach the name in the request',
  attachHint: 'The operator then reads it. Nobody can prove that the other one wrote it.',
  attached: 'What would be attached',
  send: 'Send the report',
  sentTitle: 'The operator has your report',
  blockToo: (name: string) => `Do you want to block ${name}, too?`,
  notNow: 'Not now',
}
