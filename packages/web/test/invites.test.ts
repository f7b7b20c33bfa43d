// A relay that takes people with an invite, and one that takes nobody.
import { describe, expect, test } from 'bun:test'
import { tellRelay } from '@sotto/relay'
import type { AppPerson } from './app-person.ts'
import { Barriers } from './axe.ts'
import { AppWorld } from './world.ts'

async function codeFor(world: AppWorld): Promise<string> {
  const input = { uses: 1, days: 1, note: '' }
  return (await tellRelay({ DATA_DIR: world.relay.dataDir }, 'invites.make', input)).code
}

/** Enters an invite where the app asks for one. */
async function enters(person: AppPerson, text: string): Promise<void> {
  await person.page.getByLabel(person.t.invitation.inviteLabel).fill(text)
  await person.presses(person.t.welcome.goOn)
}

/** Expects that axe-core finds no barrier on the screen, on a phone and a desktop, in both themes. */
async function expectNoBarrier(person: AppPerson): Promise<void> {
  const barriers = new Barriers()
  await person.settles()
  await barriers.lookAt(person, 'invite')
  expect(barriers.found).toEqual([])
}

describe('a relay whose members invite people', () => {
  const world = new AppWorld({ REGISTRATION: 'invite', INVITES_BY_MEMBERS: '2' })

  test('gives them links, by which somebody comes, and takes a link back', async () => {
    const alice = await world.stranger('Alice')
    await alice.goesTo(`#/invite/${await codeFor(world)}`)
    await alice.registers()
    const { invitation } = alice.t
    await alice.goesTo('#/settings/account')
    await alice.reads(invitation.makeText(2))
    await alice.presses(invitation.make)
    await alice.reads(invitation.makeText(1))
    await expectNoBarrier(alice)
    const link = await alice.page.getByText(/#\/invite\/[0-9a-f]{32}$/).innerText()
    const bob = await world.stranger('Bob')
    await bob.goesTo(new URL(link).hash)
    await bob.reads(invitation.inviteGiven)
    await bob.registers()

    await alice.presses(invitation.make)
    await alice.reads(invitation.makeText(0))
    await alice.presses(invitation.revoke)
    // The one by which Bob came counts for ever.
    await alice.reads(invitation.makeText(1))
  })
})

describe('a relay that takes people with an invite', () => {
  const world = new AppWorld({ REGISTRATION: 'invite' })

  test('lets somebody with a link make an account, who is not asked again', async () => {
    const alice = await world.stranger('Alice')
    await alice.goesTo(`#/invite/${await codeFor(world)}`)
    await alice.reads(alice.t.invitation.inviteGiven)
    await alice.registers()
    expect(new URL(alice.page.url()).hash).toBe('#/chats')
    // The link means nothing for those who are here.
    await alice.goesTo(`#/invite/${await codeFor(world)}`)
    await alice.reads(alice.t.invitation.joined)
  })

  test('asks somebody without a link before anything else, and says what is wrong with an invite', async () => {
    const [used, good] = [await codeFor(world), await codeFor(world)]
    const first = await world.stranger('First')
    await first.goesTo(`#/invite/${used}`)
    await first.registers()

    const bob = await world.stranger('Bob')
    const { invitation, welcome } = bob.t
    bob.expects(/status of 403 .*\/register\)$/)
    await bob.presses(welcome.create)
    await bob.reads(invitation.inviteText)
    await enters(bob, 'a friend told me')
    await bob.reads(invitation.inviteWrong)
    await expectNoBarrier(bob)
    await enters(bob, used)
    await bob.page.getByLabel(welcome.nicknameLabel).fill('Bob')
    await bob.presses(welcome.create)
    await bob.reads(invitation.inviteRefused)
    await enters(bob, `${world.relay.url}/#/invite/${good}`)
    await bob.finds('Bob', bob.page.getByLabel(welcome.nicknameLabel))
    await bob.presses(welcome.create)
    await bob.page.getByRole('heading', { name: welcome.phraseTitle }).waitFor()
  })

  test('says that an invite is for another relay, and that a link is broken', async () => {
    const eve = await world.stranger('Eve')
    const { invitation } = eve.t
    await eve.goesTo('#/invite/abc123?relay=https://other.example')
    await eve.reads('https://other.example')
    const there = eve.page.getByRole('link', { name: invitation.openThere })
    expect(await there.getAttribute('href')).toBe('https://other.example/#/invite/abc123')
    await eve.goesTo('#/invite/%3Cimg%20src=x%3E')
    await eve.reads(invitation.inviteBroken)
  })
})

describe('a relay that takes nobody', () => {
  const world = new AppWorld({ REGISTRATION: 'closed' })

  test('says so at once, and the way back leads to the recovery of an account', async () => {
    const eve = await world.stranger('Eve', { language: 'ar' })
    const { invitation, welcome } = eve.t
    await eve.presses(welcome.create)
    await eve.page.getByRole('heading', { name: invitation.closedTitle }).waitFor()
    await expectNoBarrier(eve)
    await eve.presses(eve.t.common.back)
    await eve.presses(welcome.recover)
    await eve.page.getByLabel(welcome.phraseLabel).waitFor()
  })
})
