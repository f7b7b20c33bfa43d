// The process of an attack, so that the load and the bystanders do not wait for each other. It gets the name
// of the attack as its argument, and the scene, the beginning and nothing else as messages.
import { Attacker } from './attacker.ts'
import { attackNamed } from './attacks.ts'
import type { Scene } from './scene.ts'

const attack = attackNamed(process.argv[2] ?? '')
let attacker: Attacker | undefined

process.on('message', async (message: unknown) => {
  if (message !== 'begin') {
    // The only other message is the scene, which abuse.ts has made.
    attacker = new Attacker(message as Scene)
    await attack.arm?.(attacker)
    process.send?.('armed')
    return
  }
  if (!attacker) throw new Error('the attack has no scene')
  attacker.begin()
  await attack.run(attacker)
  process.send?.(attacker.report)
})
process.on('disconnect', () => process.exit(0))
