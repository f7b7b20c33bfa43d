// Reports in a real chat, and what those read against whom the operator does something.
import { expect, test } from 'bun:test'
import { aliasIn, useChats } from './chat-world.ts'
import { sotto } from './run-sotto.ts'

const world = useChats()
const { friends, newHome } = world

/** Runs the operator's command at the relay of this file. @returns what it answers in JSON */
async function operator(...args: string[]) {
  const { output, errors } = await sotto(...args, '--json', '--data-dir', world.relay.dataDir)
  expect(errors).toBe('')
  return JSON.parse(output)
}

test('a friend is reported with the messages that were named, and again without any', async () => {
  const { alice, bob, aliases } = await friends()
  bob.enter('pay me')
  await alice.sees(/#1 bob: pay me$/)
  bob.enter('or I tell everybody')
  await alice.sees(/#2 bob: or I tell everybody$/)
  alice.enter('/report bob')
  await alice.sees(/^Usage: \/report <who> \[#n …\] <why>$/)
  await alice.sees(/A message is attached only if you give its number/)
  alice.enter('/report bob #1 #2 He wants money.')
  await alice.sees(new RegExp(`• Reported bob \\(${aliases[1]}\\) to the operator of 127\\.0\\.0\\.1:\\d+`))
  await alice.sees(/Attached: #1 #2\. Reporting again replaces/)
  const [report, ...others] = await operator('reports', 'list')
  expect(others).toEqual([])
  expect(report).toMatchObject({
    ...{ about: 'account', object: aliases[1], reporter: aliases[0], reason: 'He wants money.' },
    has_content: true,
  })
  const { content } = await operator('reports', 'show', `${report.id}`)
  expect(content.split('\n')).toEqual([
    expect.stringMatching(new RegExp(`^2\\S+Z ${aliases[1]}: pay me$`)),
    expect.stringMatching(new RegExp(`^2\\S+Z ${aliases[1]}: or I tell everybody$`)),
  ])

  alice.enter('/report 1 Only this.')
  await alice.sees(/No message was attached/)
  expect(await operator('reports', 'list')).toEqual([
    { ...report, reason: 'Only this.', has_content: false, reported_at: expect.any(String) },
  ])
  expect(bob.screen.text).not.toContain('eport')
  await operator('reports', 'done', `${report.id}`)
  await alice.leave()
  await bob.leave()
}, 240_000)

test('messages with somebody else are not attached, and a name never catches the reports about another', async () => {
  const { alice, bob, aliases } = await friends()
  const trickster = world.chatAt(newHome(), {}, '--nickname', 'bob is')
  await trickster.prompts(/Press Enter/)
  trickster.enter('')
  const alias = await aliasIn(trickster)
  await trickster.sees(/connected/)
  bob.enter('hello')
  await alice.sees(/#1 bob: hello$/)
  trickster.enter(`/add ${aliases[0]}`)
  await alice.sees(/bob is asks to be your friend/)

  alice.enter('/report bob is rude')
  await alice.sees(/^Who\? bob \(\w+\), bob is \(\w+\)\. Use the alias\.$/)
  alice.enter(`/report ${alias} #1 rude`)
  await alice.sees(/^#1 is no message between you and bob is .*Nothing was reported\.$/)
  alice.enter(`/report ${aliases[1]} #1`)
  await alice.sees(/^Usage: \/report/)
  alice.enter('/report nobody_here rude')
  await alice.sees(/^Nobody is called nobody_here: it is no name/)
  alice.enter(`/report ${alias} It pretends to be bob.`)
  await alice.sees(new RegExp(`• Reported bob is \\(${alias}\\)`))
  const reports = await operator('reports', 'list')
  expect(reports).toMatchObject([
    { about: 'friend_request', object: alias, reason: 'It pretends to be bob.', has_content: false },
  ])
  await operator('reports', 'done', `${reports[0].id}`)
  for (const chat of [alice, bob, trickster]) await chat.leave()
}, 240_000)

test('a channel and a post in it are reported, and its owner reads why it is closed', async () => {
  const { alice, bob } = await friends()
  alice.enter('/newchannel Quick Money')
  const [, channel] = /\((ch_[\w-]+)\)/.exec(await alice.sees(/• Created Quick Money/)) ?? []
  alice.enter('/post quick money send me your phrase')
  await alice.sees(/• Posted in Quick Money\./)
  bob.enter('/channels quick')
  await bob.sees(/^ {2}1 {2}Quick Money$/)
  bob.enter('/reportpost 1 A lie')
  await bob.sees(/^There is no post ▪1; \/read shows posts\.$/)
  bob.enter('/read 1')
  await bob.sees(/▪1 Quick Money, u\d+: send me your phrase$/)
  bob.enter('/reportpost 1 It asks for phrases.')
  await bob.sees(/• Reported post ▪1 to the operator/)
  bob.enter('/reportchannel quick money It is all a lie.')
  await bob.sees(new RegExp(`• Reported the channel Quick Money \\(${channel}\\)`))
  const [ofChannel, ofPost] = await operator('reports', 'list')
  expect(ofChannel).toMatchObject({ about: 'channel', object: channel, reason: 'It is all a lie.' })
  expect(ofPost).toMatchObject({ about: 'post', reason: 'It asks for phrases.' })
  const [itsChannel, post = ''] = ofPost.object.split(' ')
  expect(itsChannel).toBe(channel)
  expect(await operator('reports', 'show', `${ofPost.id}`)).toMatchObject({ post: 'send me your phrase' })
  await operator('channels', 'remove-post', channel ?? '', post, '--reason', 'You ask for phrases.')
  expect(await operator('reports', 'show', `${ofPost.id}`)).toMatchObject({ post: null })
  await operator('channels', 'close', channel ?? '', '--reason', 'You ask for phrases.')
  alice.enter('/post quick money again')
  await alice.sees(/^! The operator of the relay has closed this channel: You ask for phrases\.$/)
  await alice.leave()
  await bob.leave()
}, 240_000)

test('a suspended account reads why and until when, at once and when it is started again', async () => {
  const { alice, bob, aliases, homes } = await friends()
  await operator('accounts', 'suspend', aliases[1], '--reason', 'Threats', '--for', '7d')
  const words =
    /^! The operator of the relay has suspended your account: Threats \(until 2\d{3}-\S+T\d\d:\d\dZ\)$/
  await bob.sees(words)
  expect(bob.screen.text).not.toContain('ACCOUNT_SUSPENDED')
  await bob.leave()
  const again = world.chatAt(homes[1])
  await again.sees(words)
  await operator('accounts', 'lift', aliases[1])
  again.enter('/connect')
  await again.sees(/• connected/)
  await again.leave()
  await alice.leave()
}, 240_000)
