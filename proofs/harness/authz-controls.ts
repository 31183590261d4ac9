/**
 * The control: services and fields that take whoever asks for somebody else, as they would if a check or a filter were
 * forgotten. Each must be noticed by the matrix.
 */

import { isObjectType } from 'graphql'
import { authenticate } from '../../src/modules/accounts/authenticate.ts'
import type { Context, Services } from '../../src/services-context.ts'
import type { Actor } from '../../src/shared/actor.ts'
import { notFound } from '../../src/shared/errors.ts'
import type { Finding, MatrixParts } from './authz-matrix.ts'
import { runMatrix } from './authz-matrix.ts'
import type { Person } from './authz-scene.ts'
import type { Service } from './authz-service.ts'

type Method = (...args: unknown[]) => unknown
type Methods = Record<string, Method | unknown>

const isActor = (value: unknown): value is Actor =>
  typeof value === 'object' &&
  value !== null &&
  'kind' in value &&
  ['anonymous', 'user', 'system'].includes(String(value.kind))

/** Puts a service's methods in others' place; returns what puts them back. */
function replace(service: Methods, change: (name: string, method: Method) => Method | undefined): () => void {
  const originals = Object.entries(service).filter((entry): entry is [string, Method] => typeof entry[1] === 'function')
  for (const [name, method] of originals) service[name] = change(name, method.bind(service)) ?? method
  return () => {
    for (const [name, method] of originals) service[name] = method
  }
}

interface Control {
  name: string
  open(): () => void
  only?: (key: string) => boolean
  /** How deep below what was asked for; 1 when left out. */
  depth?: number
  isCaught?: (finding: Finding) => boolean
}

/** Services that know no actors: what hangs on an asset is asked for by whoever was given the asset. */
const impersonal = new Set<keyof Services>([...(['idempotency'] as const)])
/** Services that serve administrators alone: there is nothing in them for the owner. */
const administrative = new Set<keyof Services>()

/** The ways to register a file. */
const registersFile = (key: string) => key === 'Mutation.registerAsset' || key === 'POST assets'
const isThrottled = ({ text }: Finding) => text.includes(': THROTTLED instead of allow')
export interface Caught {
  tried: number
  uncaught: string[]
  /** Why what the controls were tried on was not as it should be. */
  reasons: string[]
}

export async function catchOpened(service: Service, matrix: MatrixParts): Promise<Caught> {
  const { services } = service.app
  const { people } = matrix.scene
  const actorOf = async ({ token }: Person) =>
    (await authenticate(service.app.context, { token, apiKey: matrix.scene.apiKey, address: '127.0.0.1' })).actor
  const actors = { owner: await actorOf(people.owner), admin: await actorOf(people.admin) }

  /** Whoever asks, and whatever password they give. */
  const takeFor = (taken: 'owner' | 'admin') => (argument: unknown) => {
    if (isActor(argument)) return actors[taken]
    if (typeof argument !== 'object' || argument === null || !('currentPassword' in argument)) return argument
    return { ...argument, currentPassword: people[taken].password }
  }

  const openService = (name: keyof Services): Control => {
    const taken = administrative.has(name) ? 'admin' : 'owner'
    return {
      name: `${name} take everybody for the ${taken}`,
      open: () =>
        replace(
          services[name] as unknown as Methods,
          (_methodName, method) =>
            (...args) =>
              method(...args.map(takeFor(taken))),
        ),
    }
  }

  const openField = (typeName: string, fieldName: string): Control => {
    const type = matrix.schema.getType(typeName)
    const field = isObjectType(type) ? type.getFields()[fieldName]! : undefined
    return {
      name: `${typeName}.${fieldName} tells everybody`,
      // Of the owner's assets others find the public one, in lists.
      only: (key) => key === (typeName === 'Asset' ? 'Query.assets' : `Query.node(${typeName})`),
      depth: 2,
      open() {
        const { resolve, extensions } = field!
        // A resolver that takes its fourth parameter is not compiled.
        const ownResolver: typeof resolve = (parent, args, context: Context, info) =>
          resolve!(parent, args, { ...context, actor: actors.owner }, info)
        Object.assign(field!, { resolve: ownResolver, extensions: { ...extensions, ownResolver } })
        return () => void Object.assign(field!, { resolve, extensions })
      },
    }
  }

  const writeAndRefuse: Control = {
    name: 'Mutation.cancelOrder cancels the order of another user and then returns NOT_FOUND',
    only: (key) => key === 'Mutation.cancelOrder',
    open() {
      const field = matrix.schema.getMutationType()!.getFields().cancelOrder!
      const { resolve, extensions } = field
      const ownResolver: typeof resolve = async (parent, args, context: Context, info) => {
        await resolve!(parent, args, { ...context, actor: actors.owner }, info)
        throw notFound('Order')
      }
      Object.assign(field, { resolve: ownResolver, extensions: { ...extensions, ownResolver } })
      return () => void Object.assign(field, { resolve, extensions })
    },
  }

  const names = (Object.keys(services) as (keyof Services)[]).filter((name) => !impersonal.has(name))
  const selfFields = Object.entries(matrix.expectations.types).flatMap(([type, { selfFields: fields }]) =>
    fields ? fields.split(' ').map((field) => openField(type, field)) : [],
  )
  const controls = [...names.map(openService), ...selfFields, writeAndRefuse]
  const isAllowed = ({ kind }: Finding) => kind !== 'other'

  /** From here on the owner has as much on its way in as one may have. It takes nothing from anybody else. */
  const intake = service.app.context.uploads.open(actors.owner, 0)
  async function fillOwnersRoom(): Promise<string[]> {
    const bytes = Buffer.alloc(service.uploadRoom)
    const everything = (async function* () {
      yield bytes
    })()
    await intake.hold({ filename: 'large', mimetype: '', bytes: everything })
    const { findings } = await runMatrix(matrix, { depth: 1, only: registersFile })
    const isOwners = (finding: Finding) => isThrottled(finding) && finding.text.includes(' by owner:')
    const reasons = findings.filter((finding) => !isOwners(finding)).map(({ kind, text }) => `${kind}: ${text}`)
    return findings.some(isOwners) ? reasons : [...reasons, 'The owner’s room for files was not full.']
  }

  const reasons = await fillOwnersRoom()
  const uncaught: string[] = []
  for (const { name, open, only, depth = 1, isCaught = isAllowed } of controls) {
    const close = open()
    const { findings } = await runMatrix(matrix, {
      kinds: ['other', 'anonymous'],
      depth,
      until: isCaught,
      ...(only && { only }),
    }).finally(close)
    if (!findings.some(isCaught)) uncaught.push(name)
  }
  await intake.close()
  return { tried: controls.length, uncaught, reasons }
}
