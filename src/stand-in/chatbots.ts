import type { ChatbotSettings } from './setting-fields.ts'

/** The settings of each chatbot by Edit, in memory. `onChange` is called after each write. */
export class Chatbots {
  readonly #settings = new Map<string, ChatbotSettings>()
  readonly #onChange: (serialNumber: string, settings: ChatbotSettings) => void

  constructor(onChange: (serialNumber: string, settings: ChatbotSettings) => void) {
    this.#onChange = onChange
  }

  /** The chatbots with settings, in the order of their first Edit. */
  get serialNumbers(): string[] {
    return [...this.#settings.keys()]
  }

  /** Never changed in place: the next write makes a new object. */
  settings(serialNumber: string): Readonly<ChatbotSettings> {
    return this.#settings.get(serialNumber) ?? {}
  }

  replace(serialNumber: string, settings: ChatbotSettings): void {
    this.#settings.set(serialNumber, settings)
    this.#onChange(serialNumber, settings)
  }
}
