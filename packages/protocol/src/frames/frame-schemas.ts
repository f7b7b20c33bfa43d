// Makes the schemas of frames from the schemas of their fields.
import * as v from 'valibot'

/** The schema of each frame: an object with the frame's `type` and its other fields. */
export type FrameSchemas<F extends Readonly<Record<string, v.ObjectEntries>>> = {
  readonly [T in keyof F & string]: v.ObjectSchema<
    { readonly type: v.LiteralSchema<T, undefined> } & F[T],
    undefined
  >
}

/** The schemas of frames by `type`. @param fields the fields of each frame besides `type` */
export function frameSchemas<const F extends Readonly<Record<string, v.ObjectEntries>>>(
  fields: F,
): FrameSchemas<F> {
  const schemas = Object.entries(fields).map(([type, others]) => [
    type,
    v.object({ type: v.literal(type), ...others }),
  ])
  // The entries have the keys of `fields`.
  return Object.fromEntries(schemas) as FrameSchemas<F>
}
