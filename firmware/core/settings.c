#include "settings.h"

#include "frame.h"

enum { INNER_HZ = 1000, INNER_HZ_NO_LOW_PASS = 8000, LOWEST_RATE_HZ = 4, START_RATE_HZ = 100 };
enum { SAMPLE_ON_LINE = FRAME_HEADER + SAMPLE_BYTES + FRAME_CRC + 2, BITS_PER_BYTE = 10 };
enum { GREATEST_DIVIDER = 0xFF };

static const uint16_t ACC_PER_G[] = {16384, 8192, 4096, 2048};
static const uint16_t GYR_PER_10_DPS[] = {1310, 655, 328, 164};
static const uint16_t QMC_PER_GAUSS[] = {12000, 3000};
static const uint16_t HMC_PER_GAUSS[] = {1370, 1090, 820, 660, 440, 390, 330, 230};

uint16_t greatest_rate(uint32_t baud)
{
    for (uint32_t rate = INNER_HZ; rate > 1; rate--) {
        bool carried = baud == 0 || rate * SAMPLE_ON_LINE * BITS_PER_BYTE * 10 <= 9 * (uint64_t)baud;
        if (INNER_HZ % rate == 0 && carried) {
            return (uint16_t)rate;
        }
    }
    return 1;
}

struct settings settings_after_reset(uint16_t greatest_rate_hz)
{
    struct settings settings = {.low_pass = 3};
    settings.rate_hz = greatest_rate_hz < START_RATE_HZ ? greatest_rate_hz : START_RATE_HZ;
    settings_for_magnetometer(&settings, MAG_NONE);
    return settings;
}

void settings_for_magnetometer(struct settings *settings, enum mag_chip chip)
{
    bool honeywell = chip == MAG_HMC5883L;
    settings->mag_range = honeywell ? 1 : 0;     /* 1.3 G; 2 G */
    settings->mag_rate = honeywell ? 6 : 3;      /* 75 Hz; 200 Hz */
    settings->mag_averaging = honeywell ? 3 : 0; /* of 8; oversampling 512 */
}

static void take(uint8_t *value, uint8_t wanted)
{
    if (wanted != UNCHANGED) {
        *value = wanted;
    }
}

static uint32_t inner_rate(const struct settings *settings)
{
    return settings->low_pass == 0 ? INNER_HZ_NO_LOW_PASS : INNER_HZ;
}

static bool in_range(const struct settings *s, enum mag_chip chip, uint16_t greatest_rate_hz)
{
    bool honeywell = chip == MAG_HMC5883L;
    return s->acc_range <= 3 && s->gyr_range <= 3 && s->low_pass <= 6 && s->mag_range <= (honeywell ? 7 : 1)
           && s->mag_rate <= (honeywell ? 6 : 3) && s->mag_averaging <= 3 && s->rate_hz >= LOWEST_RATE_HZ
           && s->rate_hz <= greatest_rate_hz && INNER_HZ % s->rate_hz == 0
           && inner_rate(s) / s->rate_hz - 1 <= GREATEST_DIVIDER;
}

bool settings_change(struct settings *settings, const struct set_command *command, enum mag_chip chip,
                     uint16_t greatest_rate_hz)
{
    struct settings wanted = *settings;
    take(&wanted.acc_range, command->acc_range);
    take(&wanted.gyr_range, command->gyr_range);
    take(&wanted.low_pass, command->low_pass);
    take(&wanted.mag_range, command->mag_range);
    take(&wanted.mag_rate, command->mag_rate);
    take(&wanted.mag_averaging, command->mag_averaging);
    if (command->rate_hz != 0) {
        wanted.rate_hz = command->rate_hz;
    }
    if (!in_range(&wanted, chip, greatest_rate_hz)) {
        return false;
    }
    *settings = wanted;
    return true;
}

uint8_t rate_divider(const struct settings *settings)
{
    return (uint8_t)(inner_rate(settings) / settings->rate_hz - 1);
}

uint16_t acc_per_g(uint8_t range)
{
    return ACC_PER_G[range];
}

uint16_t gyr_per_10_dps(uint8_t range)
{
    return GYR_PER_10_DPS[range];
}

uint16_t mag_per_gauss(enum mag_chip chip, uint8_t range)
{
    switch (chip) {
    case MAG_QMC5883L:
        return QMC_PER_GAUSS[range];
    case MAG_HMC5883L:
        return HMC_PER_GAUSS[range];
    default:
        return 0; /* a QMC5883P is reported and not read */
    }
}
