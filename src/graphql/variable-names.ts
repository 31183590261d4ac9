import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql'
import { documentRefusal } from './document-limits.ts'

/** Raises a GraphQLError at the first name that is unknown or missing. */
function assertNames(value: unknown, declared: GraphQLInputType, variable: string): void {
  const type = isNonNullType(declared) ? declared.ofType : declared
  if (isListType(type)) {
    for (const item of Array.isArray(value) ? value : [value]) assertNames(item, type.ofType, variable)
    return
  }
  if (!isInputObjectType(type) || typeof value !== 'object' || value === null || Array.isArray(value)) return
  const fields = type.getFields()
  for (const [name, item] of Object.entries(value)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (!field)
      throw documentRefusal(`Variable "$${variable}": field "${name.slice(0, 100)}" is not defined by type "${type}".`)
    assertNames(item, field.type, variable)
  }
  for (const field of Object.values(fields)) {
    if (isRequiredInputField(field) && !Object.hasOwn(value, field.name)) {
      throw documentRefusal(`Variable "$${variable}": field "${field.name}" of type "${type}" is required.`)
    }
  }
}

/**
 * Looks at the names in input objects before the executor does, which would tell the whole object anew with each name that
 * is wrong: a body of a megabyte makes an answer of ninety. Returns the check of an operation's variables; it raises a GraphQLError.
 */
export function createNameCheck(schema: GraphQLSchema, { variableDefinitions = [] }: OperationDefinitionNode) {
  const objects = variableDefinitions.flatMap(({ variable, type: node }) => {
    const type = typeFromAST(schema, node)
    return isInputType(type) && isInputObjectType(getNamedType(type)) ? [{ name: variable.name.value, type }] : []
  })
  return (variables: Readonly<Record<string, unknown>>): void => {
    for (const { name, type } of objects) if (Object.hasOwn(variables, name)) assertNames(variables[name], type, name)
  }
}
