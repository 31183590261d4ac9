/**
 * Negative controls of the authorization matrix. Each control makes one resolver treat every caller as the owner or as an administrator, as if
 * its check were missing. The matrix must report each one.
 */
import { type GraphQLFieldResolver, isObjectType } from 'graphql'
import type { Context } from '../../src/context.ts'
import { authenticate } from '../../src/modules/accounts/authenticate.ts'
import { notFound } from '../../src/shared/errors.ts'
import type { Finding, MatrixParts } from './authz-matrix.ts'
import { runMatrix } from './authz-matrix.ts'
import type { Person } from './authz-scene.ts'
import type { Service } from './authz-service.ts'

type Resolver = GraphQLFieldResolver<unknown, Context>

interface Control {
  name: string
  open(): () => void
  only?: (key: string) => boolean
  /** Maximum depth of the fields that are read. 1 if missing. */
  depth?: number
  isCaught?: (finding: Finding) => boolean
}

/** Mutations whose input holds the credential. Their result does not depend on the caller. */
const independentOfCaller = new Set(['Mutation.resetPassword', 'Mutation.signIn', 'Mutation.verifyEmail'])

/** The ways to register a file. */
const registersFile = (key: string) => key === 'Mutation.registerAsset' || key === 'POST assets'
const isThrottled = ({ text }: Finding) => text.includes(': THROTTLED instead of allow')

export interface Caught {
  tried: number
  uncaught: string[]
  /** Unexpected results before a control was opened. */
  reasons: string[]
}

export async function catchOpened(service: Service, parts: MatrixParts): Promise<Caught> {
  const matrix = { ...parts, url: service.plainUrl }
  const { people } = matrix.scene
  const { fields, types } = matrix.expectations
  const actorOf = async ({ token }: Person) => {
    const credentials = { token, apiKey: matrix.scene.apiKey, address: '127.0.0.1' }
    return (await authenticate(service.app.context, credentials)).actor
  }
  const actors = { owner: await actorOf(people.owner), admin: await actorOf(people.admin) }

  /** Replaces the resolver of a field. Returns a function that restores it. */
  function replace(typeName: string, fieldName: string, change: (resolve: Resolver) => Resolver): () => void {
    const type = matrix.schema.getType(typeName)
    const field = isObjectType(type) ? type.getFields()[fieldName] : undefined
    if (!field?.resolve) throw new Error(`The field ${typeName}.${fieldName} has no resolver.`)
    const { resolve, subscribe } = field
    Object.assign(field, { resolve: change(resolve), ...(subscribe && { subscribe: change(subscribe) }) })
    return () => void Object.assign(field, { resolve, subscribe })
  }

  /** Callers act as the owner or administrator, with that account's password. */
  const actAs =
    (taken: 'owner' | 'admin') =>
    (resolve: Resolver): Resolver =>
    (parent, args, context, info) => {
      const { input } = args as { input?: object }
      const hasPassword = input && 'currentPassword' in input
      const given = hasPassword ? { ...args, input: { ...input, currentPassword: people[taken].password } } : args
      return resolve(parent, given, { ...context, actor: actors[taken] }, info)
    }

  /** Root fields that other users may not use, opened for the caller that may. */
  const rootFields = [...new Set(Object.keys(fields).map((key) => key.replace(/\(.*/, '')))].flatMap(
    (key): Control[] => {
      const expected = fields[key]
      if (!expected || expected.other === 'allow' || registersFile(key) || independentOfCaller.has(key)) return []
      const taken = expected.owner === 'allow' ? 'owner' : 'admin'
      if (expected[taken] !== 'allow') return []
      const [typeName, fieldName] = key.split('.') as [string, string]
      return [
        {
          name: `${key} treats every caller as the ${taken}`,
          only: (tried) => tried.startsWith(key),
          open: () => replace(typeName, fieldName, actAs(taken)),
        },
      ]
    },
  )

  /** Fields that only the owner of an object may read, opened for everyone. */
  const selfFields = Object.entries(types).flatMap(([typeName, { selfFields: names }]) =>
    (names ? names.split(' ') : []).map(
      (fieldName): Control => ({
        name: `${typeName}.${fieldName} is visible to every caller`,
        // In lists, other users find the owner's public asset.
        only: (key) => key === (typeName === 'Asset' ? 'Query.assets' : `Query.node(${typeName})`),
        depth: 2,
        open: () => replace(typeName, fieldName, actAs('owner')),
      }),
    ),
  )

  const writeAndRefuse: Control = {
    name: 'Mutation.cancelOrder cancels the order of another user and then returns NOT_FOUND',
    only: (key) => key === 'Mutation.cancelOrder',
    open: () =>
      replace('Mutation', 'cancelOrder', (resolve) => async (parent, args, context, info) => {
        await actAs('owner')(resolve)(parent, args, context, info)
        throw notFound('Order')
      }),
  }

  const controls = [...rootFields, ...selfFields, writeAndRefuse]
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
