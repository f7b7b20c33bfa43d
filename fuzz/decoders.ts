// The part that attacks the decoders of all packages, in this process.
import { cryptoDecoders } from './crypto-decoders.ts'
import type { Decoder } from './decoder.ts'
import { Finding, type Inputs } from './inputs.ts'
import type { Part } from './part.ts'
import { protocolDecoders } from './protocol-decoders.ts'
import { relayDecoders } from './relay-decoders.ts'

const all: readonly Decoder[] = [...protocolDecoders, ...cryptoDecoders, ...relayDecoders]
const chosen = all.flatMap((each) => Array.from({ length: each.weight ?? 4 }, () => each))

export const decoders: Part = {
  name: 'decoders',
  means: 'frames, bodies, ids, names, encodings, sealed contents, patterns, amounts, addresses, settings',
  share: 3,
  run: async (inputs) => {
    inputs.spend(1)
    await inputs.inLanes(1, (index, draws) => attack(draws.pick(chosen), index, draws, inputs))
    return undefined
  },
}

type Draws = Parameters<Decoder['input']>[0]

async function attack(
  { name, input, decode }: Decoder,
  index: number,
  draws: Draws,
  inputs: Inputs,
): Promise<void> {
  const made = input(draws)
  inputs.sending(index, `${name}: ${textOf(made)}`)
  inputs.answered(name)
  try {
    await decode(made as never) // `decoder` has given both one type.
  } catch (error) {
    throw new Finding(
      `${name}, input ${index}: ${error instanceof Finding ? error.message : Bun.inspect(error)}`,
    )
  }
}

// Without the schema and the source of further choices, which both follow from the rest.
function textOf(made: unknown): string {
  if (typeof made === 'string') return made
  return JSON.stringify(made, (key, value) => (key === 'schema' || key === 'draws' ? undefined : value))
}
