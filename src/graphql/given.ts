/** GraphQL's optional input is null or absent; the domain knows only absent. */
export const given = <Input extends object>(input: Input) =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null && value !== undefined)) as {
    [Key in keyof Input]: Exclude<Input[Key], null>
  }
