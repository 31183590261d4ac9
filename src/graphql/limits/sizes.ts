/**
 * How large the parts of an answer can be. A field states it once, among its options, as in `...characters(255)`; the cost
 * of documents and the descriptions of pages are made from that, and a test finds the fields that say nothing.
 */
import type { SchemaTypes } from '@pothos/core'
import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig } from '@pothos/core'
import {
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isIntrospectionType,
  isListType,
  isObjectType,
} from 'graphql'

/** Items of a page: when nothing is asked for, and at most. */
export interface PageSize {
  defaultSize: number
  maxSize: number
}

/** How large a field's value can be, in whichever of these terms fits it. */
export interface Size {
  /** Of a list that is read page by page: `first` and `last`, or `limit`. */
  page?: PageSize
  /** Of any other list: it never has more. */
  items?: number
  /** Maximum bytes: of text and JSON in the answer, of an object or list item when it is read. */
  bytes?: number
  /** Of what stands for much work: the values that it counts as. */
  values?: number
}

/** Also what a page holds when nothing is asked for. */
const DEFAULT_PAGE = 20

/** A control character becomes six: `\u0001`. */
const BYTES_OF_CHARACTER = 6
/** A quotation mark becomes two. */
const BYTES_OF_JSON_BYTE = 2

const stated = (size: Size) => ({ extensions: { size } })

/** A page of a list; the two sizes are what Pothos bounds it by. `bytes`: bytes read for each item, whatever is selected of it. */
export const pageOf = (maxSize: number, defaultSize = DEFAULT_PAGE, bytes?: number) => ({
  defaultSize,
  maxSize,
  ...stated({ page: { defaultSize, maxSize }, ...(bytes !== undefined && { bytes }) }),
})

/** A list that never has more items. */
export const atMost = (items: number) => stated({ items })

/** Text of so many characters at most. */
export const characters = (count: number) => stated({ bytes: count * BYTES_OF_CHARACTER })

/** JSON of so many bytes at most, as a value of the answer. */
export const jsonBytes = (count: number) => stated({ bytes: count })

/** JSON of so many bytes at most, as text in the answer. */
export const jsonTextBytes = (count: number) => stated({ bytes: count * BYTES_OF_JSON_BYTE })

/** A link of ours: it holds nothing that anybody wrote. */
export const urlSize = stated({ bytes: 1_000 })

/** A value that is so large and counts for so many. */
export const wholeDocument = (bytes: number, values: number) => stated({ bytes, values })

/** What a field or an argument says of its size; nothing for one whose type is small. */
export const sizeOf = ({ extensions }: { extensions?: unknown }): Size =>
  (extensions as { size?: Size } | null)?.size ?? {}

/** Types whose values hold as much as somebody writes. */
const unbounded = new Set(['String', 'JSONObject'])

/** The lists of a connection are as long as the page that was asked for, and cursors as short as what they are made of. */
const boundedByPage = /(Connection\.(nodes|edges)|Edge\.cursor)$|^PageInfo\./

/** Fields that answer a list or a text and do not say how large it can be, as `Type.field`. */
export function fieldsWithoutSize(schema: GraphQLSchema): string[] {
  const fields = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !isIntrospectionType(type))
    .flatMap((type) => Object.values((type as GraphQLObjectType).getFields()).map((field) => ({ type, field })))
  return fields
    .filter(({ field }) => {
      const { page, items, bytes, values } = sizeOf(field)
      const named = getNamedType(field.type).name
      if (named.endsWith('Connection')) return !page
      if (isListType(getNullableType(field.type))) return !(page || items || values)
      return unbounded.has(named) && !bytes
    })
    .map(({ type, field }) => `${type.name}.${field.name}`)
    .filter((path) => !boundedByPage.test(path))
}

const pageArguments = new Set(['first', 'last', 'limit'])
const grouped = new Intl.NumberFormat('en-US')

/** Tells the sizes of a page where its arguments are described. */
class SizesPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(config: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const { page } = sizeOf(config)
    if (!page) return config
    const told = ` ${page.defaultSize} when left out, at most ${grouped.format(page.maxSize)}.`
    const args = Object.fromEntries(
      Object.entries(config.args).map(([name, arg]) => [
        name,
        pageArguments.has(name)
          ? {
              ...arg,
              description: `${arg.description}${name === 'last' ? ` At most ${grouped.format(page.maxSize)}.` : told}`,
            }
          : arg,
      ]),
    )
    return { ...config, args }
  }

  override afterBuild(built: GraphQLSchema): GraphQLSchema {
    const silent = fieldsWithoutSize(built)
    if (silent.length === 0) return built
    throw new Error(`State how large an answer they can make, beside the fields, as in sizes.ts: ${silent.join(', ')}`)
  }
}

/** Name of the plugin that tells the sizes of pages where their arguments are described. */
export const sizesPlugin = 'sizes' as const

declare global {
  export namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      sizes: SizesPlugin<Types>
    }
  }
}

SchemaBuilder.registerPlugin(sizesPlugin, SizesPlugin)
