/* The few registers of the STM32F103 that the module uses. Source: reference manual RM0008, programming manual PM0056. */
#ifndef REGISTERS_H
#define REGISTERS_H

#include <stdint.h>

#ifdef REGISTER_MODEL
/* On the host a model of the peripherals takes the place of the registers. */
uint32_t reg_get(uint32_t address);
void reg_set(uint32_t address, uint32_t value);
void interrupts_off(void);
void interrupts_on(void);
#else
static inline uint32_t reg_get(uint32_t address)
{
    return *(volatile uint32_t *)address;
}

static inline void reg_set(uint32_t address, uint32_t value)
{
    *(volatile uint32_t *)address = value;
}

static inline void interrupts_off(void)
{
    __asm volatile("cpsid i" ::: "memory");
}

static inline void interrupts_on(void)
{
    __asm volatile("cpsie i" ::: "memory");
}
#endif

static inline void reg_change(uint32_t address, uint32_t clear, uint32_t set)
{
    reg_set(address, (reg_get(address) & ~clear) | set);
}

#define BIT(n) (1U << (n))

/* Reset and clock control */
#define RCC_CR 0x40021000U
#define RCC_CR_HSEON BIT(16)
#define RCC_CR_HSERDY BIT(17)
#define RCC_CR_PLLON BIT(24)
#define RCC_CR_PLLRDY BIT(25)
#define RCC_CFGR 0x40021004U
#define RCC_CFGR_SW_PLL 2U
#define RCC_CFGR_SWS_PLL (2U << 2)
#define RCC_CFGR_SWS (3U << 2)
#define RCC_CFGR_PPRE1_HALF (4U << 8)
#define RCC_CFGR_PLLSRC_HSE BIT(16)
#define RCC_CFGR_PLLMUL(times) (((times)-2U) << 18)
#define RCC_APB2ENR 0x40021018U
#define RCC_APB2ENR_AFIO BIT(0)
#define RCC_APB2ENR_GPIOA BIT(2)
#define RCC_APB2ENR_GPIOB BIT(3)
#define RCC_APB2ENR_GPIOC BIT(4)
#define RCC_APB2ENR_USART1 BIT(14)
#define RCC_APB1ENR 0x4002101CU
#define RCC_APB1ENR_TIM3 BIT(1)
#define RCC_APB1ENR_I2C1 BIT(21)

/* Flash interface: two wait states above 48 MHz, with the prefetch buffer */
#define FLASH_ACR 0x40022000U
#define FLASH_ACR_TWO_WAITS_PREFETCH (2U | BIT(4))

/* Pins: four bits for each, MODE in the lower two and CNF in the upper two; pins 0 to 7 in CRL, 8 to 15 in CRH */
#define GPIOA 0x40010800U
#define GPIOB 0x40010C00U
#define GPIOC 0x40011000U
#define GPIO_CRL 0x00U
#define GPIO_CRH 0x04U
#define GPIO_IDR 0x08U
#define GPIO_ODR 0x0CU
#define GPIO_BSRR 0x10U
#define PIN_INPUT_FLOATING 0x4U
#define PIN_INPUT_PULLED 0x8U    /* up or down by ODR */
#define PIN_OUTPUT_2MHZ 0x2U
#define PIN_OPEN_DRAIN_10MHZ 0x5U
#define PIN_ALTERNATE_10MHZ 0x9U
#define PIN_ALTERNATE_OPEN_DRAIN_10MHZ 0xDU

/* External interrupts */
#define AFIO_EXTICR1 0x40010008U
#define AFIO_EXTI0_PORT_B 1U
#define EXTI_IMR 0x40010400U
#define EXTI_RTSR 0x40010408U
#define EXTI_PR 0x40010414U

/* USART1 */
#define USART1_SR 0x40013800U
#define USART_SR_RXNE BIT(5)
#define USART_SR_TXE BIT(7)
#define USART1_DR 0x40013804U
#define USART1_BRR 0x40013808U
#define USART1_CR1 0x4001380CU
#define USART_CR1_RE BIT(2)
#define USART_CR1_TE BIT(3)
#define USART_CR1_RXNEIE BIT(5)
#define USART_CR1_TXEIE BIT(7)
#define USART_CR1_UE BIT(13)

/* I2C1 */
#define I2C1_CR1 0x40005400U
#define I2C_CR1_PE BIT(0)
#define I2C_CR1_START BIT(8)
#define I2C_CR1_STOP BIT(9)
#define I2C_CR1_ACK BIT(10)
#define I2C_CR1_POS BIT(11)
#define I2C_CR1_SWRST BIT(15)
#define I2C1_CR2 0x40005404U
#define I2C1_DR 0x40005410U
#define I2C1_SR1 0x40005414U
#define I2C_SR1_SB BIT(0)
#define I2C_SR1_ADDR BIT(1)
#define I2C_SR1_BTF BIT(2)
#define I2C_SR1_RXNE BIT(6)
#define I2C_SR1_TXE BIT(7)
#define I2C_SR1_BERR BIT(8)
#define I2C_SR1_ARLO BIT(9)
#define I2C_SR1_AF BIT(10)
#define I2C1_SR2 0x40005418U
#define I2C_SR2_BUSY BIT(1)
#define I2C1_CCR 0x4000541CU
#define I2C_CCR_FAST BIT(15)
#define I2C1_TRISE 0x40005420U

/* Timer 3 as the counter of a quadrature encoder */
#define TIM3_CR1 0x40000400U
#define TIM3_SMCR 0x40000408U
#define TIM3_CCMR1 0x40000418U
#define TIM3_CNT 0x40000424U
#define TIM3_ARR 0x4000042CU

/* Independent watchdog, clocked by its own oscillator of 30 to 60 kHz */
#define IWDG_KR 0x40003000U
#define IWDG_PR 0x40003004U
#define IWDG_RLR 0x40003008U

/* Unique device identity */
#define DEVICE_IDENTITY 0x1FFFF7E8U

/* Cortex-M3: SysTick, interrupt controller, system control */
#define SYST_CSR 0xE000E010U
#define SYST_RVR 0xE000E014U
#define SYST_CVR 0xE000E018U
#define NVIC_ISER0 0xE000E100U
#define NVIC_ISER1 0xE000E104U
#define SCB_AIRCR 0xE000ED0CU
#define SCB_AIRCR_RESET 0x05FA0004U
#define SCB_SHCSR 0xE000ED24U
#define SCB_SHCSR_BUSFAULTENA BIT(17)

#endif
